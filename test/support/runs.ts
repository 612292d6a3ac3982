/** `npm run test:fault` tries properties so many times as often. */
const TIMES = Number(process.env.TEST_RUNS ?? 1)

/** How often a property that takes long is tried: `usual` times in a usual run, which are others in each. */
export const runs = (usual: number): number => usual * TIMES
