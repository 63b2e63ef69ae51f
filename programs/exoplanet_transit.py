"""exoplanet 0.5.3: Kepler's equation, a transit's light and its derivative, and an orbit found from velocities."""

from __future__ import annotations

import exoplanet as xo
import numpy as np
import pymc3 as pm
import pymc3_ext as pmx

import theano
import theano.tensor as T

mean_anomaly, eccentricity = np.linspace(-3, 3, 50), np.full(50, 0.6)
m, e = T.dvector("m"), T.dvector("e")
sine, cosine = theano.function([m, e], xo.orbits.keplerian.ops.kepler(m, e))(mean_anomaly, eccentricity)
half = np.arctan2(sine, cosine) / 2
eccentric = 2 * np.arctan2(np.sqrt(0.4) * np.sin(half), np.sqrt(1.6) * np.cos(half))
np.testing.assert_allclose(eccentric - 0.6 * np.sin(eccentric), mean_anomaly, atol=1e-10)

t, r = np.linspace(-0.2, 0.2, 401), T.dscalar("r")
orbit = xo.orbits.KeplerianOrbit(period=3.456, b=0.2)
curve = xo.LimbDarkLightCurve(0.3, 0.2).get_light_curve(orbit=orbit, r=r, t=t).sum()
area, slope = theano.function([r], curve), theano.function([r], theano.grad(curve, r))
numeric = (area(0.1 + 1e-5) - area(0.1 - 1e-5)) / 2e-5
print(f"transit: {area(0.1):.5f} of the star's light, slope {slope(0.1):.4f}, by differences {numeric:.4f}")
assert area(0.1) < 0 and abs(slope(0.1) / numeric - 1) < 1e-4

times = np.sort(np.random.default_rng(0).uniform(0, 30, 60))
seen = -12.0 * np.sin(2 * np.pi * (times - 1.0) / 5.0) + np.random.default_rng(1).normal(0, 0.3, 60)
with pm.Model():
    period = pm.Lognormal("period", np.log(4.95), 0.05)
    phase, amplitude = pm.Normal("phase", 1.2, 1.0), pm.Lognormal("amplitude", np.log(10.0), 1.0)
    speed = xo.orbits.KeplerianOrbit(period=period, t0=phase).get_radial_velocity(times, K=amplitude)
    pm.Normal("seen", speed, 0.3, observed=seen)
    best = pmx.optimize(verbose=False, progress=False)
print(f"orbit: period {float(best['period']):.3f}, known 5.0; amplitude {float(best['amplitude']):.2f}, known 12.0")
assert abs(best["period"] - 5.0) < 0.02 and abs(best["amplitude"] - 12.0) < 0.3
