import { freshDatabase } from './database.ts'
import { openApp } from './open-app.ts'

/** Two nodes of one service on a new database, with one clock, which only the test advances. */
export const openTwoNodes = async () => {
  const clock = { now: Date.UTC(2026, 0, 1) }
  const now = () => clock.now
  const database = await freshDatabase()
  const [app, other] = await Promise.all([openApp(database.url, { now }), openApp(database.url, { now })])
  const close = async () => {
    for (const node of [app, other]) await node.close()
    await database.drop()
  }
  return { clock, now, database, app, other, nodes: [app, other] as const, close }
}
