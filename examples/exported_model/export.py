# Trains a small convolutional network on the digits with JAX and writes it as StableHLO text.
#
#   pip install jax; python export.py ../data/digits.csv model.mlir images.npy
#
# Anabranch needs none of this: model.mlir is kept beside it. images.npy has the 100 last images.
import sys

import jax
import jax.numpy as jnp
import numpy as np

table = np.loadtxt(sys.argv[1], delimiter=",", dtype=np.float32)
images, labels = table[:, :64].reshape(-1, 8, 8, 1) / 16, table[:, 64].astype(np.int32)
train, test = np.arange(len(images) - 100), np.arange(len(images) - 100, len(images))


def network(weights, x):
    for w, b in weights[:2]:
        x = jax.lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
        x = jax.nn.relu(x + b)
        x = jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
    w, b = weights[2]
    return jax.nn.log_softmax(x.reshape(x.shape[0], -1) @ w + b)


def loss(weights, x, y):
    return -jnp.mean(jnp.take_along_axis(network(weights, x), y[:, None], axis=1))


@jax.jit
def step(weights, momentum, x, y):
    gradient = jax.grad(loss)(weights, x, y)
    momentum = jax.tree.map(lambda m, g: 0.9 * m + g, momentum, gradient)
    return jax.tree.map(lambda w, m: w - 0.05 * m, weights, momentum), momentum


def layer(key, *shape):
    scale = np.sqrt(2 / np.prod(shape[:-1]))
    return scale * jax.random.normal(key, shape), jnp.zeros(shape[-1])


keys = jax.random.split(jax.random.key(0), 3)
weights = [layer(keys[0], 3, 3, 1, 8), layer(keys[1], 3, 3, 8, 16), layer(keys[2], 64, 10)]
momentum = jax.tree.map(jnp.zeros_like, weights)
for epoch in range(30):
    shuffled = np.random.RandomState(epoch).permutation(train)
    for batch in shuffled[: len(train) // 32 * 32].reshape(-1, 32):
        weights, momentum = step(weights, momentum, images[batch], labels[batch])


@jax.jit
def classify(x):
    scores = network(weights, x)
    return jnp.argmax(scores, axis=1).astype(jnp.int32), jnp.exp(jnp.max(scores, axis=1))


found, confidence = classify(images[test])
print("correct:", int((found == labels[test]).sum()), "of", len(test))
np.save(sys.argv[3], images[test])
with open(sys.argv[2], "w") as file:
    file.write(classify.lower(images[test]).as_text())
