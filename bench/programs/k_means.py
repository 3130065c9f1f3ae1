def step(xp, p, points, centres):
    for _ in range(5):
        distance = xp.sum((points[:, None] - centres) ** 2, axis=-1)
        nearest = xp.argmin(distance, axis=1)
        member = p.astype(nearest[:, None] == xp.arange(centres.shape[0]), points.dtype)
        size = xp.sum(member, axis=0)
        centres = xp.where(size[:, None] > 0, member.T @ points / size[:, None], centres)
    return centres, nearest
