"""Reinforcement learning (rllab, on Lasagne): trust regions, by products with Hessians, find a way to a point."""

from __future__ import annotations

import _ast
import ast
import sys

import joblib.pool
import numpy as np

_ast.Num = ast.Constant  # Python 3.8 dropped it there; an import that nothing uses
joblib.pool.MemmapingPool = joblib.pool.MemmappingPool  # joblib 0.13 mended the name
sys.path[:0] = [sys.argv[1], f"{sys.argv[1]}/lasagne_master"]
from examples.point_env import PointEnv  # noqa: E402
from rllab.algos.trpo import TRPO  # noqa: E402
from rllab.baselines.linear_feature_baseline import LinearFeatureBaseline  # noqa: E402
from rllab.envs.normalized_env import normalize  # noqa: E402
from rllab.policies.gaussian_mlp_policy import GaussianMLPPolicy  # noqa: E402

np.random.seed(0)
env = normalize(PointEnv())
policy = GaussianMLPPolicy(env_spec=env.spec, hidden_sizes=(16,))
search = TRPO(env=env, policy=policy, baseline=LinearFeatureBaseline(env_spec=env.spec), batch_size=1000,
              max_path_length=40, n_itr=15, discount=0.99, step_size=0.05)  # fmt: skip
search.train()


def reached(observation):
    """Return how far from the point the mean action leads in 40 steps."""
    for _ in range(40):
        observation = observation + 0.1 * np.clip(policy.get_action(observation)[1]["mean"], -1, 1)
    return np.linalg.norm(observation)


far = [reached(np.array(start)) for start in ((0.9, 0.9), (-0.8, 0.5), (0.1, -0.9))]
assert max(far) < 0.1, far
print(f"ends {max(far):.3f} from the point at most, from three starts up to {np.hypot(0.9, 0.9):.2f} away")
