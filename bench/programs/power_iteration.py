def step(xp, p, table, first, second):
    x = (table - xp.mean(table, axis=0)) / p.std(table, 0)

    def multiplied(v):
        return x @ v @ x / table.shape[0]

    def unit(v):
        return v / xp.sqrt(xp.sum(v * v))

    a, b = unit(first), second
    for _ in range(6):
        a = unit(multiplied(a))
    for _ in range(6):
        v = multiplied(b)
        b = unit(v - xp.sum(v * a) * a)
    return a, b, xp.sum(a * multiplied(a)), xp.sum(b * multiplied(b))
