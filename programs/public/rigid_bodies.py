"""A physics engine of rigid bodies in Theano, differentiable: a fall, a pendulum on a sled, and slopes through time."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np

import theano
import theano.tensor as T

theano.config.floatX = "float32"
sys.path.insert(0, sys.argv[1])
from TheanoPhysicsSystem import TheanoRigid3DBodyEngine  # noqa: E402

given = json.loads(Path(sys.argv[1], "robotmodel/pendulum.json").read_text())
given["cameras"] = {}
del given["model"]["background"]  # no pictures: SciPy 1.2 dropped what reads textures
given["default_model_parameters"]["cube"] = {"dimensions": [1, 1, 1]}
for body in given["model"].values():
    body[0]["faces"] = {}
ground = {"mu": 1.0, "torsional_friction": False, "delta": 0.0, "alpha": 0.5, "f": 1.0, "zeta": 0.0}
given["default_constraint_parameters"]["ground"] = ground
given["model"]["ball"] = [{"shape": "sphere", "position": [0, 1.5, 9.0], "radius": 0.5, "velocity": [2, 0, 0, 0, 0, 0]}]
given["joints"]["floor"] = {"type": "ground", "object1": "ball", "object2": "floor"}
given["default_model_parameters"]["sphere"] = {"radius": 0.5}
Path("pendulum.json").write_text(json.dumps(given))
engine = TheanoRigid3DBodyEngine()
engine.load_robot_model("pendulum.json")
engine.compile(batch_size=2)
state, motor = engine.get_state_variables(), T.fmatrix("motor")
one = engine.do_time_step(state, motor_signals=motor)
step = theano.function([*state, motor], list(one))
ball, sled, bar = (engine.get_object_index(name) for name in ("ball", "sled", "bar"))
start = values = [v.data for v in engine.get_initial_state()]
rods, places = [], []
for t in range(100):
    values = step(*values, np.full((2, 1), 0.3 * np.sin(0.2 * t), "float32"))
    rods.append(np.linalg.norm(values[0][:, bar] - values[0][:, sled], axis=1))
    places.append(values[0][:, sled, 0])
# A ball falls as steps of Euler's say; the bar hangs on the sled's hinge, and the motor moves the sled.
n, dt = 100, engine.DT
fallen = values[0][0, ball]
assert np.allclose(fallen, [2 * n * dt, 1.5, 9 - 9.81 * dt**2 * n * (n + 1) / 2], atol=1e-3), fallen
assert np.abs(np.array(rods) - 0.3).max() < 0.02 and np.ptp(places) > 0.05, (rods[-1], np.ptp(places))
# The slope of where the sled is after three steps with respect to the motor's signal, against differences.
late = one
for _ in range(2):
    late = engine.do_time_step(late, motor_signals=motor)
place = late.positions[0, sled, 0]
slope = theano.function([*state, motor], [place, T.grad(place, motor)])
pushed = np.full((2, 1), 0.05, "float32")
known = (slope(*values, pushed + np.float32(0.01))[0] - slope(*values, pushed - np.float32(0.01))[0]) / 0.02
found = float(slope(*values, pushed)[1][0, 0])
assert abs(found - known) < 0.02 * abs(known) + 1e-5, (found, known)
off = float(np.abs(np.array(rods) - 0.3).max())
print(f"fell to {fallen[2]:.3f}; a rod of 0.3 within {off:.4f}; slope {found:.5f}, known {known:.5f}")
