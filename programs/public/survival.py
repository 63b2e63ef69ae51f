"""Survival networks (DeepSurv, on Lasagne): risks that are known, Cox's likelihood, saved and loaded."""

from __future__ import annotations

import sys
import types

import numpy as np

sys.modules["tensorboard_logger"] = types.ModuleType("tensorboard_logger")  # it writes logs of which none are asked for
sys.path[:0] = [sys.argv[1], f"{sys.argv[1]}/lasagne_master"]
from deepsurv import DeepSurv, datasets  # noqa: E402

np.random.seed(0)
data = datasets.SimulatedData(5, average_death=5, end_time=15, num_features=4, num_var=2)
train, valid = (data.generate_data(n, method="linear") for n in (800, 400))
model = DeepSurv(n_in=4, learning_rate=0.02, hidden_layers_sizes=[12], activation="selu", standardize=True,
                 L2_reg=1e-3, momentum=0.9, batch_norm=True, dropout=0.1)  # fmt: skip
model.train(train, valid, n_epochs=200, verbose=False)
ranks = model.get_concordance_index(**valid)
known = valid["x"][:, 0] + 2 * valid["x"][:, 1]
alike = np.corrcoef(model.predict_risk(valid["x"]).ravel(), known)[0, 1]
assert ranks > 0.7 and alike > 0.95, (ranks, alike)
print(f"concordance {ranks:.3f}, correlation with the true risk {alike:.3f}")
