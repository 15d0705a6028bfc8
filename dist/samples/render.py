#!/usr/bin/env python3
# SPDX-License-Identifier: CC0-1.0
"""Renders the sample pictures in this folder.

They are computed from nothing but noise and a fixed seed each, so they are free to share. Needs
numpy and Pillow:

    python3 dist/samples/render.py [NAME ...]
"""

import sys
from pathlib import Path

import numpy as np
from PIL import Image

WIDTH, HEIGHT, SCALE = 1280, 853, 2
W, H = WIDTH * SCALE, HEIGHT * SCALE
HERE = Path(__file__).resolve().parent

# Coordinates of every pixel: x and y run from 0 to 1, a is x in units of the height.
Y, X = np.mgrid[0:H, 0:W].astype(np.float32)
X, Y = (X + 0.5) / W, (Y + 0.5) / H
A = X * (W / H)


# Colours and curves


def rgb(text):
    """A colour in linear light."""
    values = np.array([int(text[i : i + 2], 16) for i in (0, 2, 4)], np.float32) / 255
    return values**2.2


def mix(a, b, t):
    return a + (b - a) * (t[..., None] if isinstance(t, np.ndarray) else t)


def smooth(low, high, value):
    t = np.clip((value - low) / (high - low), 0, 1)
    return t * t * (3 - 2 * t)


def gradient(t, *stops):
    """Colours along (position, colour) stops."""
    places = [place for place, _ in stops]
    colours = np.array([rgb(colour) for _, colour in stops])
    return np.stack([np.interp(t, places, colours[:, i]) for i in range(3)], -1).astype(np.float32)


# Noise


def spectral(rng, rows, columns, slope, low=1, stretch=1.0):
    """Noise that tiles, whose amplitude falls with frequency; mean 0, deviation 1."""
    fy = np.fft.fftfreq(rows)[:, None] * rows
    fx = np.fft.rfftfreq(columns)[None, :] * columns * stretch
    f = np.hypot(fx, fy)
    amplitude = np.where(f < low, 0, np.maximum(f, 1) ** -slope)
    phase = rng.standard_normal(f.shape) + 1j * rng.standard_normal(f.shape)
    noise = np.fft.irfft2(amplitude * phase, (rows, columns))
    return ((noise - noise.mean()) / noise.std()).astype(np.float32)


def sample(texture, u, v):
    """A tiling texture at (u, v), 0 to 1 a tile, between its points."""
    rows, columns = texture.shape[:2]
    x, y = u * columns, v * rows
    x0, y0 = np.floor(x), np.floor(y)
    fx, fy = (x - x0).astype(np.float32), (y - y0).astype(np.float32)
    x0, y0 = x0.astype(np.int64) % columns, y0.astype(np.int64) % rows
    x1, y1 = (x0 + 1) % columns, (y0 + 1) % rows
    if texture.ndim == 3:
        fx, fy = fx[..., None], fy[..., None]
    top = texture[y0, x0] * (1 - fx) + texture[y0, x1] * fx
    return top * (1 - fy) + (texture[y1, x0] * (1 - fx) + texture[y1, x1] * fx) * fy


def line(rng, points, roughness, lowest=1, highest=400):
    """A rough curve over the width of the picture; deviation 1."""
    f = np.arange(points) + 0.0
    amplitude = np.where((f < lowest) | (f > highest), 0, np.maximum(f, 1) ** -roughness)
    phases = np.exp(2j * np.pi * rng.random(points))
    curve = np.fft.irfft(amplitude * phases, 2 * points)[: 2 * points]
    return curve / curve.std()


def ridge(rng, roughness, lowest=1.0, highest=400):
    curve = line(rng, 4096, roughness, lowest, highest)
    start = rng.integers(0, 2000)
    return np.interp(np.linspace(0, 4000, W), np.arange(8192 - start), curve[start:])


def stars(rng, count, brightest=6.0):
    """Light of a field of stars, a few bright ones among many faint ones."""
    layer = np.zeros((H, W, 3), np.float32)
    for _ in range(count):
        x, y = rng.random() * W, rng.random() * H
        light = min(brightest, 0.10 * rng.random() ** -0.75)
        size = 0.55 * SCALE * (1 + 0.30 * light)
        tint = mix(rgb("ffd9b0"), rgb("b9d0ff"), float(rng.random()))
        reach = int(size * 4) + 1
        x0, y0 = int(x), int(y)
        ys = slice(max(0, y0 - reach), min(H, y0 + reach + 1))
        xs = slice(max(0, x0 - reach), min(W, x0 + reach + 1))
        gy, gx = np.mgrid[ys, xs]
        spot = np.exp(-((gx - x) ** 2 + (gy - y) ** 2) / (2 * size**2))
        layer[ys, xs] += (light * spot)[..., None].astype(np.float32) * tint
    return layer


def conifers(rng, ground, count, tall, spread=0.4):
    """The upper edge of a row of firs that stand on a curve; both in picture heights from the top."""
    edge = ground.copy()
    columns = np.arange(W)
    for _ in range(count):
        centre = rng.integers(-40, W + 40)
        height = tall * (1 + spread * rng.standard_normal())
        height = max(height, tall * 0.3)
        width = height * (0.17 + 0.05 * rng.random()) * H
        left, right = max(0, int(centre - width)), min(W, int(centre + width) + 1)
        if left >= right:
            continue
        across = np.abs(columns[left:right] - centre) / width
        # Boughs: the outline falls in steps, each of which hangs a little outwards.
        steps = 9 + rng.integers(0, 5)
        level = across * steps
        bough = (np.floor(level) + (level % 1) ** 0.35 * 1.15) / steps
        jitter = 0.03 * np.sin(columns[left:right] * 0.9 + centre)
        base = ground[min(max(centre, 0), W - 1)] + 0.012
        top = base - height * (1 - np.clip(bough + jitter * across, 0, 1))
        edge[left:right] = np.minimum(edge[left:right], top)
    return edge


def below(edge):
    """1 below a curve, 0 above it, soft over a pixel."""
    return np.clip((Y - edge[None, :]) * H + 0.5, 0, 1).astype(np.float32)


# A landscape from a map of heights, seen from (0, eye, 0) towards +z


class Terrain:
    def __init__(self, heights, side, sun_slope):
        """`heights` tile over a square of `side`; the sun stands in the west, `sun_slope` high."""
        self.heights, self.side = heights.astype(np.float32), side
        cell = side / heights.shape[0]
        dz, dx = np.gradient(self.heights, cell)
        self.slopes = np.stack([dx, dz], -1).astype(np.float32)
        x = np.arange(heights.shape[1] * 2) * cell
        lifted = np.concatenate([self.heights, self.heights], 1) + x[None, :] * sun_slope
        shade = np.maximum.accumulate(lifted, 1) - lifted
        self.shade = shade[:, heights.shape[1] :].astype(np.float32)

    def view(self, eye, horizon, lens, near, far, offset=(0.0, 0.0), steps=1400):
        """Distance of what each pixel shows (infinite for sky) and its place on the ground."""
        z = near * (far / near) ** np.linspace(0, 1, steps)
        column = (np.arange(W) + 0.5) / H - W / H / 2
        x = column[:, None] * z[None, :] / lens
        u = (x + offset[0]) / self.side
        v = (z[None, :] + offset[1]) / self.side + np.zeros_like(x)
        ground = sample(self.heights, u, v)
        screen = horizon - lens * (ground - eye) / z[None, :]
        depth = np.full((H, W), np.inf, np.float32)
        rows = (np.arange(H) + 0.5) / H
        for i in range(W):
            rising = np.maximum.accumulate(-screen[i])
            hit = np.searchsorted(rising, -rows)
            valid = hit < steps
            k = np.clip(hit, 1, steps - 1)
            r0, r1 = rising[k - 1], rising[k]
            t = np.clip((-rows - r0) / np.maximum(r1 - r0, 1e-9), 0, 1)
            distance = z[k - 1] + (z[k] - z[k - 1]) * t
            depth[valid, i] = distance[valid]
        seen = np.isfinite(depth)
        z = np.where(seen, depth, far)
        x = column[None, :] * z / lens
        u, v = (x + offset[0]) / self.side, (z + offset[1]) / self.side
        return seen, z, x, u, v


# Pictures


def morning_haze():
    rng = np.random.default_rng(11)
    sky = gradient(Y, (0, "5b86b8"), (0.22, "9db7cf"), (0.42, "f0cfae"), (0.55, "f9dcb4"))
    sun = np.hypot(A - 1.02, (Y - 0.335))
    image = sky + rgb("ffd79a") * (0.65 * np.exp(-sun * 5.5))[..., None]
    image += rgb("fff1d0") * (1.6 * smooth(0.036, 0.033, sun))[..., None]
    wisps = spectral(rng, 512, 1024, 1.9, 2, 3)
    veil = smooth(0.2, 2.4, sample(wisps, X * 0.9, Y * 1.3)) * smooth(0.5, 0.1, Y)
    image = mix(image, rgb("fbe3cf"), 0.55 * veil)
    far, close = rgb("dcb9a4"), rgb("141d33")
    layers = 8
    for i in range(layers):
        t = i / (layers - 1)
        crest = ridge(rng, 1.35 + 0.1 * rng.random(), 2 + 1.5 * (1 - t), 500)
        edge = 0.43 + 0.47 * t**1.15 - (0.052 + 0.03 * np.sin(3 * t)) * crest
        colour = mix(mix(far, rgb("6d7fa3"), smooth(0, 0.55, np.float32(t))), close, t**1.6)
        broad = np.convolve(np.pad(edge, W // 8, "edge"), np.hanning(W // 4 + 1) / (W // 8), "valid")
        if i >= layers - 2:
            edge = conifers(rng, edge, 420 if i == layers - 2 else 230, 0.028 + 0.05 * (t > 0.9))
        down = Y - broad[None, :] + 0.03
        mist = np.clip(down / (0.10 + 0.22 * t), 0, 1) ** 1.3 * (1 - t)
        lit = np.exp(-sun * 3.5) * (1 - t)
        tint = colour + mist[..., None] * (rgb("f3d3b6") - colour) * 0.75
        tint = tint + rgb("ffcf8f") * (0.30 * lit)[..., None]
        image = mix(image, tint, below(edge))
    return image


def aurora():
    rng = np.random.default_rng(4)
    shore = 0.70
    sky = gradient(Y, (0, "050b1e"), (0.4, "0b2138"), (0.70, "1d4a55"))
    sky = sky + 0.5 * stars(rng, 1500)
    x = np.linspace(0, 1, W)
    light = np.zeros((H, W, 3), np.float32)
    for height, swing, power, seed in ((0.50, 0.10, 1.0, 1), (0.40, 0.13, 0.75, 5), (0.56, 0.05, 0.5, 8)):
        own = np.random.default_rng(seed)
        base = height - swing * ridge(own, 2.4, 1, 8) * 0.8 - 0.12 * np.sin(2.2 * x + seed)
        rays = np.exp(0.42 * ridge(own, 0.75, 12, 260)) * np.clip(0.75 + 0.5 * ridge(own, 1.6, 1, 12), 0.05, 3)
        reach = 0.16 + 0.05 * ridge(own, 1.2, 2, 60)
        reach = np.clip(reach, 0.06, 0.4)
        up = (base[None, :] - Y) / reach[None, :]
        glow = np.where(up > 0, np.exp(-1.25 * up), np.exp(9 * up)) * power * rays[None, :]
        glow = glow.astype(np.float32)
        hue = gradient(np.clip(up, 0, 3), (0, "4dffab"), (0.7, "29d890"), (1.6, "3f8fc0"), (2.6, "8a4fc8"))
        light += glow[..., None] * hue * 0.62
    sky = sky + light
    folds = sum(0.5**i * np.abs(spectral(rng, 1024, 1024, 1.6, 2**i * 3)) for i in range(4))
    scene = sky
    for height, rough, rock, snow in ((0.145, 1.32, "173844", "6fb9ae"), (0.075, 1.45, "0a1a24", "2f6f6c")):
        crest = shore - height - 0.46 * height * ridge(rng, rough, 2, 500)
        down = (Y - crest[None, :]) / height
        fold = sample(folds, X * 1.3 + 0.25 * Y + height, Y * 0.75)
        lean = fold - sample(folds, X * 1.3 + 0.25 * Y + height + 0.008, Y * 0.75 + 0.003)
        bare = down - 0.95 + 0.42 * fold
        cover = smooth(0.30, -0.25, bare) * np.clip(0.30 + 1.5 * lean, 0.04, 1)
        slope = mix(rgb(rock), rgb(snow), cover.astype(np.float32))
        slope = mix(slope, rgb("1d4a55"), 0.45 * smooth(0.3, 1.6, down))
        scene = mix(scene, slope, below(crest))
    edge = conifers(rng, np.full(W, shore - 0.004) - 0.006 * ridge(rng, 1.5, 3, 80), 700, 0.021, 0.45)
    scene = mix(scene, rgb("03080c"), below(edge))
    # The lake: the scene upside down, and a little uneasy.
    ripples = spectral(rng, 1024, 1024, 1.5, 4)
    depth = np.clip(Y - shore, 1e-3, 1)
    wave = sample(ripples, A * 0.5 + 0.05 / depth * 0.2, 0.10 / depth)
    row = 2 * shore - Y + wave * depth * 0.06
    column = X + wave * 0.002
    mirror = scene[np.clip(row * H, 0, H - 1).astype(int), np.clip(column * W, 0, W - 1).astype(int)]
    water = mirror * (0.72 - 0.5 * depth)[..., None] + rgb("04131c") * 0.6
    return np.where((Y > shore)[..., None], water, scene)


def fir_forest():
    rng = np.random.default_rng(23)
    image = np.broadcast_to(rgb("f6d9a8"), (H, W, 3)).copy()
    for radius, colour in ((0.62, "f8e0b4"), (0.44, "fae6c0"), (0.29, "fcedd0"), (0.17, "fffaf0")):
        disc = np.clip((radius - np.hypot(A - 0.98, Y - 0.36)) * H, 0, 1)
        image = mix(image, rgb(colour), disc)
    colours = ["e6bd92", "c99a80", "9d7f7c", "6f6a76", "48546a", "2b3f54", "152a3b", "0a1926"]
    for i, colour in enumerate(colours):
        t = i / (len(colours) - 1)
        ground = 0.40 + 0.50 * t - (0.05 + 0.012 * t) * ridge(rng, 1.75, 1.5, 60 + 140 * (i < 3))
        if i >= 2:
            ground = conifers(rng, ground, int(330 - 230 * t), 0.018 + 0.17 * t**1.7, 0.28)
        image = mix(image, rgb(colour), below(ground))
    for _ in range(9):
        # A few birds, two strokes each.
        x, y, size = 0.55 + 0.3 * rng.random(), 0.13 + 0.16 * rng.random(), 0.007 + 0.006 * rng.random()
        across = np.abs(A - x) / size
        wing = y - size * (0.75 * np.sin(np.clip(across, 0, 1) * 2.2))
        stroke = np.clip((0.0011 + 0.0012 * (1 - across) - np.abs(Y - wing)) * H, 0, 1) * (across < 1)
        image = mix(image, rgb("5c5560"), stroke.astype(np.float32))
    return image


def dunes():
    rng = np.random.default_rng(7)
    size = 2048
    v, u = np.mgrid[0:size, 0:size].astype(np.float32) / size
    bend = spectral(rng, size, size, 2.6, 1)
    bend2 = spectral(rng, size, size, 2.6, 1)
    heights = np.zeros((size, size), np.float32)
    for waves, tall, warp in ((3, 1.0, 0.50), (7, 0.24, 0.55)):
        phase = waves * u + warp * bend + 0.35 * bend2 + waves * 0.33 * np.sin(2 * np.pi * v) * 0.3
        t = phase % 1
        # A long rise in the wind, and a short slide behind the crest.
        form = np.where(t < 0.68, (t / 0.68) ** 1.5, np.maximum(0, 1 - (t - 0.68) / 0.32) ** 1.25)
        swell = np.clip(0.75 + 0.35 * bend2, 0.15, 1.6)
        heights += tall * form * swell
    kernel = np.exp(-0.5 * (np.fft.fftfreq(size) * size / 260) ** 2)
    soft = np.fft.ifft2(np.fft.fft2(heights) * kernel[:, None] * kernel[None, :]).real
    land = Terrain(soft * 0.62, 10.0, 0.33)
    horizon = 0.40
    seen, z, x, tu, tv = land.view(1.28, horizon, 1.25, 1.0, 30.0, (5.2, 7.1), 1600)
    slope, shade = sample(land.slopes, tu, tv), sample(land.shade, tu, tv)
    ripple_bend = sample(spectral(rng, 512, 512, 1.8, 2), tu * 4, tv * 4)
    near = np.exp(-z / 2.6)
    gx = tu * land.side * 9.5 + 0.55 * ripple_bend + tv * 14
    slope_x = slope[..., 0] + 0.15 * near * np.cos(2 * np.pi * gx * 1.9)
    normal = 1 / np.sqrt(1 + slope_x**2 + slope[..., 1] ** 2)
    direct = np.clip((0.40 - slope_x * -0.92 - slope[..., 1] * -0.10) * normal, 0, None)
    direct *= 1 - smooth(0.0, 0.02, shade)
    sand = mix(rgb("d88a4a"), rgb("efb878"), smooth(-1, 1.5, ripple_bend))
    lit = sand * rgb("ffd9a6") * (1.5 * direct)[..., None] + sand * rgb("8090c8") * 0.20 * normal[..., None]
    haze = 1 - np.exp(-np.maximum(z - 2, 0) / 16)
    lit = mix(lit, rgb("e9b58c"), 0.85 * haze)
    sky = gradient(Y / horizon, (0, "3f6ea8"), (0.45, "89a9c6"), (0.8, "e8c7a4"), (1.0, "f1c391"))
    wisps = sample(spectral(rng, 512, 1024, 1.8, 2, 3), X * 0.7, Y * 1.3)
    sky = mix(sky, rgb("fff0e0"), 0.5 * smooth(0.6, 2.6, wisps))
    return np.where(seen[..., None], lit, sky)


def sea(rng, horizon, sky_at, body, choppy, focus=0.55, height=0.18):
    """Water below the horizon that mirrors `sky_at(azimuth, elevation)`."""
    swell = 1024
    fy = np.fft.fftfreq(swell)[:, None] * swell
    fx = np.fft.fftfreq(swell)[None, :] * swell
    f = np.hypot(fx, fy)
    amplitude = np.where(f < 3, 0, np.maximum(f, 1) ** -1.95 * np.exp(-((f / 330) ** 2)))
    amplitude = amplitude * (0.35 + (np.abs(fy) / np.maximum(f, 1)) ** 2)
    wave = amplitude * (rng.standard_normal(f.shape) + 1j * rng.standard_normal(f.shape))
    sx, sz = np.fft.ifft2(1j * fx * wave).real, np.fft.ifft2(1j * fy * wave).real
    scale = choppy / sx.std()
    slopes = np.stack([sx * scale, sz * scale], -1).astype(np.float32)
    drop = np.clip(Y - horizon, 0.6 / H, 1)
    z = height * focus / drop
    x = (A - W / H / 2) * z / focus
    near = sample(slopes, x * 0.55 + 0.13, z * 0.55)
    wide = sample(slopes[:, ::-1], x * 0.16 + 0.7, z * 0.16 + 0.3)
    slope = 0.75 * near + 0.5 * wide
    distance = np.sqrt(x**2 + z**2 + height**2)
    dx, dy, dz = x / distance, -height / distance, z / distance
    norm = 1 / np.sqrt(1 + (slope**2).sum(-1))
    nx, ny, nz = -slope[..., 0] * norm, norm, -slope[..., 1] * norm
    dot = dx * nx + dy * ny + dz * nz
    rx, ry, rz = dx - 2 * dot * nx, dy - 2 * dot * ny, dz - 2 * dot * nz
    fresnel = 0.03 + 0.97 * np.clip(1 + dot, 0, 1) ** 4
    mirror = sky_at(np.arctan2(rx, rz), np.arcsin(np.clip(np.abs(ry), 0, 1)))
    return mix(body, mirror, np.clip(fresnel, 0, 1).astype(np.float32))


def sunset():
    rng = np.random.default_rng(31)
    horizon, focus = 0.60, 0.9
    clouds = spectral(rng, 1024, 1024, 1.75, 2, 0.30)
    detail = spectral(rng, 1024, 1024, 1.3, 10, 0.4)
    sun_height = 0.045

    def sky_at(azimuth, elevation, crisp=False):
        e = np.clip(elevation / 0.62, 0, 1)
        sky = gradient(e, (0, "ff9a3e"), (0.10, "fb7a45"), (0.28, "d7607a"), (0.55, "6d5a9a"), (1, "27386f"))
        away = np.hypot(azimuth, (elevation - sun_height) * 1.1)
        sky = sky + rgb("ffb45a") * (1.3 * np.exp(-away * 7))[..., None]
        sky = sky + rgb("ffe9b8") * ((5.0 if crisp else 9.0) * smooth(0.040, 0.034 if crisp else 0.02, away))[..., None]
        lift = 1 / (elevation + 0.16)
        cover = sample(clouds, azimuth * lift * 0.11 + 0.30, lift * 0.17) + 0.30 * sample(detail, azimuth * lift * 0.2, lift * 0.3)
        under = sample(clouds, azimuth * lift * 0.11 + 0.30, lift * 0.17 + 0.012)
        amount = smooth(0.15, 1.5, cover) * smooth(0.0, 0.10, elevation)
        glow = np.clip(0.55 + 0.9 * (cover - under), 0, 1.5) * np.exp(-away * 1.5)
        lit = mix(rgb("4a3f6e"), rgb("ff8a55"), np.clip(glow * 1.35, 0, 1)) + rgb("ffb070") * (0.35 * np.exp(-away * 4))[..., None]
        return mix(sky, lit, 0.88 * amount)

    azimuth = np.arctan2(A - W / H / 2 - 0.12, focus)
    sky = sky_at(azimuth, np.maximum((horizon - Y) / focus, 0), True)
    shift = np.arctan2(0.12, focus)
    water = sea(rng, horizon, lambda a, e: sky_at(a - shift, e), rgb("142247") * 0.9, 0.085, focus, 0.2)
    image = np.where((Y < horizon)[..., None], sky, water)
    # A headland, far away.
    edge = horizon - np.clip(0.035 * (1 - np.abs(X[0] - 0.06) / 0.26), 0, 1) * (1 + 0.18 * ridge(rng, 1.3, 4, 300))
    land = below(edge) * (Y < horizon + 0.0015) * (X < 0.33)
    return mix(image, rgb("41304f"), 0.92 * land)


def summer_clouds():
    rng = np.random.default_rng(54)
    horizon, focus = 0.74, 0.9
    masses = spectral(rng, 1024, 1024, 1.62, 2, 0.55)

    def density(u, v):
        return sample(masses, u, v)

    def sky_at(azimuth, elevation):
        sky = gradient(np.clip(elevation / 0.8, 0, 1), (0, "cfe6f3"), (0.18, "8fc3e8"), (0.55, "3f8fd2"), (1, "1b5fae"))
        lift = 0.30 / (elevation + 0.30)
        u, v = azimuth * (0.30 + 0.35 * lift) + 0.22, lift * 1.05 + 0.05
        here = density(u, v)
        cover = smooth(0.10, 0.85, here - 0.5 * smooth(0.55, 0.8, elevation))
        thick = np.zeros_like(here)
        for step in range(1, 7):
            thick += np.clip(density(u - 0.0045 * step, v - 0.010 * step) - 0.25, 0, 2)
        light = np.exp(-0.30 * thick)
        white = mix(rgb("7d93b4"), rgb("ffffff") * 1.12, np.clip(light * 1.15, 0, 1))
        white = mix(white, rgb("cfe1ee"), 0.75 * smooth(0.30, 0.0, elevation))
        return mix(sky, white, cover)

    azimuth = np.arctan2(A - W / H / 2, focus)
    sky = sky_at(azimuth, np.maximum((horizon - Y) / focus, 0))
    body = gradient((Y - horizon) / (1 - horizon), (0, "2f7fb4"), (0.4, "10679c"), (1, "0a4f80"))
    water = sea(rng, horizon, sky_at, body, 0.11, focus, 0.16)
    image = np.where((Y < horizon)[..., None], sky, water)
    for x, y, tall in ((0.97, 0.775, 0.150), (0.42, 0.748, 0.034), (0.50, 0.7465, 0.024)):
        # A boat: two sails, a hull, and their image in the water.
        for flip, strength in ((-1, 0.30), (1, 1.0)):
            up = (y - Y) / tall * flip
            if flip < 0:
                up = up * 1.4
                wobble = 0.02 * tall * np.sin(Y * 900 + 9 * np.sin(Y * 260))
            else:
                wobble = 0.0
            across = (A - x + wobble) / tall
            soft = tall * H
            main = np.minimum(across - 0.015, 0.40 * np.clip(1.02 - up, 0, 2) ** 0.85 - across)
            main = np.clip(np.minimum(main, up - 0.12) * soft, 0, 1)
            jib = np.minimum(-0.015 - across, across + 0.30 * np.clip(0.90 - up, 0, 1))
            jib = np.clip(np.minimum(jib, up - 0.14) * soft, 0, 1)
            deck = np.minimum(np.minimum(0.085 - up, up + 0.02), 0.37 + 0.5 * up - np.abs(across - 0.02))
            hull = np.clip(deck * soft, 0, 1)
            image = mix(image, rgb("fdfaf3") * (0.92 + 0.10 * (across < 0.1))[..., None], strength * main.astype(np.float32))
            image = mix(image, rgb("d9dfe6"), strength * jib.astype(np.float32))
            image = mix(image, rgb("a8322e"), strength * hull.astype(np.float32))
    return image


def milky_way():
    rng = np.random.default_rng(77)
    sky = gradient(Y, (0, "060a1a"), (0.45, "0d1730"), (0.75, "24324f"), (0.92, "8a6a5c"))
    along = (A - 0.55) * 0.55 + (Y - 0.55) * 0.84
    across = (A - 0.80) * 0.84 - (Y - 0.45) * 0.55
    dust = spectral(rng, 1024, 1024, 1.55, 2)
    fine = spectral(rng, 1024, 1024, 1.1, 6)
    d = sample(dust, along * 0.45, across * 0.45)
    across = across + 0.035 * d
    band = np.exp(-((across / 0.20) ** 2))
    core = np.exp(-((across / 0.10) ** 2)) * np.exp(-(((along - 0.12) / 0.42) ** 2))
    lanes = smooth(-0.2, 1.3, sample(dust, along * 0.9 + 0.4, across * 1.9) + 0.35 * sample(fine, along * 0.6, across * 0.9))
    lanes = lanes * np.exp(-((across / 0.075) ** 2))
    grain = 1 + 0.22 * sample(fine, along * 0.8, across * 0.8)
    glow = rgb("9fb2e6") * (0.30 * band * grain)[..., None] + rgb("ffc9a0") * (0.75 * core * grain)[..., None]
    glow = glow + rgb("c46a9a") * (0.16 * core * smooth(0.4, 1.8, d))[..., None]
    fade = smooth(0.95, 0.55, Y)[..., None]
    sky = sky + glow * (1 - 0.82 * lanes)[..., None] * fade * 0.62
    field = stars(rng, 5200, 5.0)
    milky = stars(rng, 7000, 0.8) * (band * (1 - 0.7 * lanes))[..., None]
    image = sky + (field * 0.8 + milky) * fade
    back = 0.86 - 0.035 * ridge(rng, 1.6, 2, 200)
    image = mix(image, rgb("141a2c"), below(back))
    ground = 0.93 - 0.02 * ridge(rng, 1.9, 1, 80) - 0.03 * np.cos(np.linspace(-1.5, 2.5, W))
    trees = conifers(rng, ground, 60, 0.10, 0.5)
    clearing = np.abs(np.linspace(0, 1, W) - 0.40) < 0.10
    trees = np.where(clearing, ground, trees)
    image = mix(image, rgb("03050b"), below(trees))
    # A tent with a lamp in it.
    x = 0.40 * W / H
    y = float(ground[int(0.40 * W)]) + 0.006
    up, side = (y - Y) / 0.052, (A - x) / 0.052
    tent = np.clip(np.minimum(1 - up - np.abs(side) * 0.95, up) * 0.052 * H, 0, 1)
    lamp = np.exp(-(np.hypot(side * 0.9, up - 0.25) ** 2) * 1.3)
    canvas = mix(rgb("9a3f10"), rgb("ffd27a") * 1.5, lamp.astype(np.float32))
    seam = 1 - 0.55 * np.exp(-((side / 0.03) ** 2))
    image = image + rgb("ff9a40") * (0.10 * np.exp(-(np.hypot(side, up) ** 2) / 9))[..., None]
    return mix(image, canvas * seam[..., None], tent.astype(np.float32))


def city_lights():
    rng = np.random.default_rng(90)
    shore = 0.66
    scene = gradient(Y, (0, "0f1c44"), (0.28, "2f3f78"), (0.48, "8a5f86"), (0.60, "e08a6a"), (0.66, "f6b27a"))
    wisps = sample(spectral(rng, 512, 1024, 1.8, 2, 4), X * 0.7, Y * 1.1)
    scene = mix(scene, rgb("d9788a"), 0.42 * smooth(0.3, 2.2, wisps) * smooth(0.05, 0.3, Y))
    warm = [rgb(c) for c in ("ffd58a", "ffc56b", "ffe6b8", "fff3dc", "bfe0ff")]
    layers = (("6b5a80", 46, 0.16, 0.006, 0.25), ("3d3a62", 38, 0.24, 0.007, 0.55), ("191d3c", 27, 0.30, 0.0085, 1.0))
    for colour, count, tall, grid, shine in layers:
        base = rgb(colour)
        order = rng.permutation(count)
        for n in order:
            middle = (n + 0.5 + 0.5 * rng.standard_normal()) / count * W / H
            hill = 0.35 + 0.85 * np.exp(-(((middle - 0.80) / 0.36) ** 2))
            height = tall * hill * (0.45 + 0.75 * rng.random())
            width = 0.018 + 0.030 * rng.random()
            x0, x1 = int((middle - width) * H), int((middle + width) * H)
            y0, y1 = int((shore - height) * H), int(shore * H)
            x0, x1 = max(0, x0), min(W, x1)
            if x1 - x0 < 8:
                continue
            shade = base * (0.85 + 0.3 * rng.random())
            face = np.linspace(1.15, 0.85, x1 - x0)[None, :, None] * shade
            fall = np.linspace(0.9, 1.25, y1 - y0)[:, None, None]
            block = (face * fall).astype(np.float32)
            cell = int(grid * H)
            rows, columns = (y1 - y0) // cell - 1, (x1 - x0) // cell - 1
            lit = rng.random((max(rows, 0), max(columns, 0)))
            share = 0.16 + 0.34 * rng.random()
            tone = warm[rng.integers(0, len(warm))]
            for r, c in zip(*np.nonzero(lit < share)):
                top, left = r * cell + cell, c * cell + (cell * 3) // 4
                light = shine * (0.35 + 0.9 * rng.random())
                block[top : top + cell // 2 + 1, left : left + cell // 2] = tone * light + shade * (1 - min(light, 1))
            scene[y0:y1, x0:x1] = block
            if height > 0.8 * tall * 0.9 and rng.random() < 0.6:
                mast = int(0.03 * H * (1 + rng.random()))
                centre = (x0 + x1) // 2
                scene[y0 - mast : y0, centre - 1 : centre + 2] = shade
                if shine > 0.5:
                    far = np.hypot(A - centre / H, Y - (y0 - mast) / H)
                    scene += rgb("ff4a3a") * (1.6 * np.exp(-((far / 0.0028) ** 2)) + 0.2 * np.exp(-far / 0.006))[..., None]
    # Lamps along the quay.
    quay = (Y > shore - 0.006) & (Y < shore)
    scene[quay] = rgb("0c1026")
    for x in np.arange(0.02, W / H, 0.052):
        far = np.hypot(A - x, Y - (shore - 0.013))
        scene += rgb("ffc070") * (1.7 * np.exp(-((far / 0.0022) ** 2)) + 0.22 * np.exp(-far / 0.008))[..., None]
    # Light that spreads in the damp air.
    small = np.stack([np.asarray(Image.fromarray(np.clip(scene[..., i], 0, 4)).resize((W // 8, H // 8), Image.Resampling.BOX)) for i in range(3)], -1)
    rows = small.shape[0]
    small = np.concatenate([small, small[::-1]])
    freq = np.hypot(np.fft.fftfreq(2 * rows)[:, None], np.fft.fftfreq(small.shape[1])[None, :])
    blur = np.exp(-((freq * 28) ** 2))
    soft = np.stack([np.fft.ifft2(np.fft.fft2(small[..., i]) * blur).real[:rows].astype(np.float32) for i in range(3)], -1)
    soft = np.stack([np.asarray(Image.fromarray(soft[..., i]).resize((W, H), Image.Resampling.BICUBIC)) for i in range(3)], -1)
    scene = scene * 0.88 + 0.16 * soft
    ripples = spectral(rng, 1024, 1024, 1.25, 6)
    depth = np.clip(Y - shore, 1e-3, 1)
    water = np.zeros_like(scene)
    taps = 10
    for k in range(taps):
        wave = sample(ripples, A * 0.35 / (0.25 + depth) + 0.11 * k * 0.13, 0.14 / (depth + 0.03) + 0.002 * k)
        row = 2 * shore - Y + (wave * 0.55 + (k / taps - 0.5) * 1.4) * depth * 0.30
        column = X + wave * 0.0035
        water += scene[np.clip(row * H, 0, shore * H - 1).astype(int), np.clip(column * W, 0, W - 1).astype(int)]
    water = water / taps * (0.80 - 0.55 * depth)[..., None] + rgb("0a1230") * 0.35
    return np.where((Y > shore)[..., None], water, scene)


PICTURES = {
    "Dunes.jpg": dunes,
    "City lights.jpg": city_lights,
    "Mountains/Morning haze.jpg": morning_haze,
    "Mountains/Northern lights.jpg": aurora,
    "Mountains/Fir forest.png": fir_forest,
    "Sea and sky/Sunset.jpg": sunset,
    "Sea and sky/Summer clouds.jpg": summer_clouds,
    "Sea and sky/Milky Way.webp": milky_way,
}


def save(image, path):
    image = np.clip(image, 0, None)
    # Bright light runs into white softly, dark stays as it is.
    knee = 0.75
    image = np.where(image > knee, knee + (1 - knee) * np.tanh((image - knee) / (1 - knee)), image)
    image = np.clip(image, 0, 1) ** (1 / 2.2)
    planes = [
        np.asarray(Image.fromarray(image[..., i].astype(np.float32)).resize((WIDTH, HEIGHT), Image.Resampling.BOX))
        for i in range(3)
    ]
    dither = np.random.default_rng(0).random((HEIGHT, WIDTH, 1)) - 0.5
    pixels = np.stack(planes, -1) * 255 + (0 if path.suffix == ".png" else dither)
    picture = Image.fromarray(np.clip(np.rint(pixels), 0, 255).astype(np.uint8))
    path.parent.mkdir(exist_ok=True)
    if path.suffix == ".png":
        picture.quantize(64, dither=Image.Dither.NONE).save(path, optimize=True)
    elif path.suffix == ".webp":
        picture.save(path, quality=80, method=6)
    else:
        picture.save(path, quality=80, optimize=True, progressive=True)


def main():
    wanted = sys.argv[1:]
    for name, paint in PICTURES.items():
        if not wanted or any(word.lower() in name.lower() for word in wanted):
            save(paint(), HERE / name)
            print(name)


if __name__ == "__main__":
    main()
