#!/usr/bin/python3
"""Records what train_digits is compared with: PyTorch's losses from the same start.

Needs Debian's python3-torch and the digits of scikit-learn (digits.csv, from python3-sklearn):

    ./record_reference.py digits.csv

It writes digits.safetensors (the data set), start.safetensors (the parameters to begin with) and
reference.json (the loss of each of the first ten steps).
"""

import csv
import json
import struct
import sys

import torch
import torch.nn.functional as F

BATCH = 32
STEPS = 10


def write_safetensors(path, tensors):
    names = {torch.float32: "F32", torch.uint8: "U8"}
    header, blobs, offset = {}, [], 0
    for name, tensor in tensors.items():
        blob = bytes(tensor.contiguous().numpy().tobytes())
        header[name] = {
            "dtype": names[tensor.dtype],
            "shape": list(tensor.shape),
            "data_offsets": [offset, offset + len(blob)],
        }
        offset += len(blob)
        blobs.append(blob)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text + b"".join(blobs))


def read_digits(path):
    with open(path) as f:
        rows = torch.tensor([[int(float(v)) for v in row] for row in csv.reader(f)][-1797:])
    # The file is sorted by who wrote the digits.
    torch.manual_seed(0)
    rows = rows[torch.randperm(len(rows))]
    return rows[:, :64].to(torch.uint8), rows[:, 64].to(torch.uint8)


def start():
    torch.manual_seed(1)
    mlp = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.Linear(64, 10))
    # From here no step is on the edge of another maximum of a pool: ten losses in float64 are the same
    # within 1e-6, where from other starts a rounding in the last place moves the tenth by 1e-4.
    torch.manual_seed(3)
    conv = [torch.nn.Conv2d(1, 16, 3, bias=False), torch.nn.Conv2d(16, 32, 3, bias=False)]
    out = torch.nn.Linear(128, 10)
    params = {
        "mlp.hidden.weight": mlp[0].weight,
        "mlp.hidden.bias": mlp[0].bias,
        "mlp.out.weight": mlp[1].weight,
        "mlp.out.bias": mlp[1].bias,
        "cnn.out.weight": out.weight,
        "cnn.out.bias": out.bias,
    }
    for i, layer in enumerate(conv):
        params[f"cnn.conv{i}.weight"] = layer.weight
        params[f"cnn.norm{i}.weight"] = torch.ones(layer.out_channels)
        params[f"cnn.norm{i}.bias"] = torch.zeros(layer.out_channels)
    return {name: p.detach().clone() for name, p in params.items()}


def mlp_loss(p, x, y):
    hidden = torch.relu(F.linear(x, p["mlp.hidden.weight"], p["mlp.hidden.bias"]))
    return F.cross_entropy(F.linear(hidden, p["mlp.out.weight"], p["mlp.out.bias"]), y)


def cnn_loss(p, x, y):
    x = x.view(-1, 1, 8, 8)
    for i in range(2):
        x = F.conv2d(x, p[f"cnn.conv{i}.weight"], padding=1)
        x = F.batch_norm(x, None, None, p[f"cnn.norm{i}.weight"], p[f"cnn.norm{i}.bias"], True)
        x = F.max_pool2d(torch.relu(x), 2)
    logits = F.linear(x.flatten(1), p["cnn.out.weight"], p["cnn.out.bias"])
    return F.nll_loss(F.log_softmax(logits, 1), y)


def losses(prefix, loss_of, optimizer_of, images, labels):
    params = {k: v.clone().requires_grad_() for k, v in start().items() if k.startswith(prefix)}
    optimizer = optimizer_of(params.values())
    result = []
    for step in range(STEPS):
        batch = slice(step * BATCH, (step + 1) * BATCH)
        loss = loss_of(params, images[batch].float() / 16, labels[batch].long())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        result.append(loss.item())
    return result


def main():
    images, labels = read_digits(sys.argv[1])
    write_safetensors("digits.safetensors", {"images": images, "labels": labels})
    write_safetensors("start.safetensors", start())
    optimizers = {
        "sgd": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9),
        "adam": lambda p: torch.optim.Adam(p, lr=0.003),
    }
    models = {"mlp": mlp_loss, "cnn": cnn_loss}
    reference = {
        f"{model}.{name}": losses(model, loss_of, optimizer_of, images, labels)
        for model, loss_of in models.items()
        for name, optimizer_of in optimizers.items()
    }
    with open("reference.json", "w") as f:
        json.dump(reference, f, indent=1)
        f.write("\n")


main()
