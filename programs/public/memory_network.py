"""Dynamic memory networks, with parameters and updates of Lasagne's: where somebody is, from a story in bAbI's form."""

from __future__ import annotations

import sys

import numpy as np

import theano

theano.config.floatX = "float32"
sys.path.insert(0, sys.argv[1])
import utils  # noqa: E402
from dmn_basic import DMN_basic  # noqa: E402
from dmn_smooth import DMN_smooth  # noqa: E402

RNG = np.random.default_rng(0)
np.random.seed(0)
PEOPLE, PLACES = ["mary", "john"], ["garden", "kitchen", "office"]
for part, count in (("train", 200), ("test", 60)):
    with open(f"{part}.txt", "w") as file:
        for _ in range(count):
            places = RNG.choice(PLACES, 2)
            for i, (who, where) in enumerate(zip(PEOPLE, places)):
                file.write(f"{i + 1} {who} went {where}.\n")
            who = int(RNG.integers(0, 2))
            file.write(f"3 where {PEOPLE[who]}?\t{places[who]}\t{who + 1}\n")
train, test = utils.init_babi("train.txt"), utils.init_babi("test.txt")
vectors = {word: RNG.normal(size=12) for word in ("mary", "john", "went", ".", "where", *PLACES)}
found = {}
for kind, module in ((DMN_basic, "feedforward"), (DMN_smooth, "recurrent")):
    more = {"batch_norm": False, "dropout": 0.0} if kind is DMN_smooth else {}
    model = kind(
        babi_train_raw=train,
        babi_test_raw=test,
        word2vec=vectors,
        word_vector_size=12,
        dim=12,
        mode="train",
        answer_module=module,
        input_mask_mode="sentence",
        memory_hops=2,
        l2=0,
        normalize_attention=False,
        **more,
    )
    for _ in range(8):
        model.shuffle_train_set()
        losses = [float(model.step(i, "train")["current_loss"]) for i in range(len(train))]
    model.save_params("state", 6)
    model.load_state("state")
    results = [model.step(i, "test") for i in range(len(test))]
    right = np.mean([result["prediction"].argmax(axis=1)[0] == result["answers"][0] for result in results])
    found[kind.__name__] = round(float(right), 2)
    print(np.mean(losses), right)
    assert right > 0.9, found
print(f"accuracy on stories not seen: {found}")
