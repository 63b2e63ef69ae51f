"""pyfms 0.4.0: factorisation machines find a product of two features, with dense and sparse matrices."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pyfms
import scipy.sparse
from pyfms.optimizers import Adam
from pyfms.regularizers import L2

rng = np.random.default_rng(0)
np.random.seed(0)
x = rng.normal(size=(400, 5))
y = 1 + x @ [1.0, -2.0, 0.0, 0.5, 0.0] + 2 * x[:, 0] * x[:, 3]
weights = []
for layout, matrix in (("dense", x), ("csr", scipy.sparse.csr_matrix(x))):
    machine = pyfms.Regressor(5, k=2, X_format=layout)
    machine.fit(matrix, y, optimizer=Adam(lr=0.02), nb_epoch=150, batch_size=50)
    left = float(((machine.predict(matrix) - y) ** 2).mean() / y.var())
    bias, linear, factors = machine.get_weights()
    found = float(factors[:, 0] @ factors[:, 3])
    print(f"{layout}: {left:.1e} of the variance left, factor of the product {found:.3f}, known 2.0")
    assert left < 1e-2 and abs(found - 2) < 0.1
    np.testing.assert_allclose(linear, [1, -2, 0, 0.5, 0], atol=0.1)

machine = pyfms.Classifier(5, k=2)
signs = (x[:, 0] * x[:, 3] > 0).astype(float)
machine.fit(x, signs, optimizer=Adam(lr=0.02), regularizer=L2(0, 1e-4, 1e-4), nb_epoch=100, batch_size=50)
accuracy = float((machine.predict(x) == signs).mean())
print(f"signs of a product: accuracy {accuracy:.3f}")
assert accuracy > 0.9
with tempfile.TemporaryDirectory() as folder:
    machine.save_weights(str(Path(folder) / "weights"))
    again = pyfms.Classifier(5, k=2)
    again.load_weights(str(Path(folder) / "weights"))
np.testing.assert_array_equal(again.predict_proba(x), machine.predict_proba(x))
