def step(xp, p, sequence, state, w, r, bias):
    units = state.shape[1]

    def move(h, x):
        inward, recurrent = x @ w + bias, h @ r
        update = p.sigmoid(inward[:, :units] + recurrent[:, :units])
        reset = p.sigmoid(inward[:, units : 2 * units] + recurrent[:, units : 2 * units])
        candidate = xp.tanh(inward[:, 2 * units :] + reset * recurrent[:, 2 * units :])
        return update * h + (1 - update) * candidate, None

    h, _ = p.scan(move, state, [sequence])
    return (h,)
