import json, re, sys

BASE, calls = "http://127.0.0.1:8791/", {}

def send(**message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)

def fail(id, kind, text):
    send(id=id, error={"code": -32000, "message": text, "data": {"kind": kind}})

def finish(id, call, answer):
    if "error" in answer:
        return send(id=id, error=answer["error"])
    if answer["result"]["status"] != 200:
        return fail(id, "failed", "The server does not list its photos.")
    names = re.findall('href="([^"/]+[.]jpe?g)"', answer["result"].get("body", ""))
    photos = {name: {"id": name, "images": {"full": BASE + name}} for name in names}
    if call["method"] == "page":
        send(id=id, result={"photos": list(photos.values())})
    elif call["params"]["photo"] in photos:
        send(id=id, result=photos[call["params"]["photo"]])
    else:
        fail(id, "not-found", "There is no such photo.")

for line in sys.stdin:
    message = json.loads(line)
    id, method, params = (message.get(key) for key in ("id", "method", "params"))
    if method == "initialize":
        send(id=id, result={"protocol": 1})
    elif method == "identify":
        send(id=id, result={"username": params["account"]["username"]})
    elif method == "sources":
        send(id=id, result={"sources": [{"id": "feed", "title": "All", "kind": "feed"}]})
    elif method in ("page", "photo"):
        calls[id] = message
        send(id=id, method="http", params={"account": params["account"]["id"], "url": BASE})
    elif id in calls:
        finish(id, calls.pop(id), message)
