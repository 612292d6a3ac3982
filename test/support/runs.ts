/** How many times as often as usual a test repeats its work: what `--times` of the test command says, otherwise 1. */
export const times = (): number => Number(process.env.TEST_TIMES ?? 1)

/** How often a test repeats its work, when it does so `usual` times in a usual run. */
export const runs = (usual: number): number => usual * times()
