#pragma once
// Headers of the kernel and of glibc that Swift's Glibc module leaves out.
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <malloc.h>
