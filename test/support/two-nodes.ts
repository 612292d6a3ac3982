import { type Suite, openWorld } from './world.ts'

/** Two nodes of one service on a new database, with one clock, which only the test advances. */
export const openTwoNodes = async (test: Suite) => {
  const clock = { now: Date.UTC(2026, 0, 1) }
  const now = () => clock.now
  const { database, node, openNode } = await openWorld(test, { now })
  const other = await openNode()
  return { clock, now, database, node, openNode, other, nodes: [node, other] as const }
}
