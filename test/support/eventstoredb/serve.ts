import { startDouble } from './server.ts'

/** By hand: a server in memory until Ctrl-C. Says its URL, for EVENTSTORE_URL or TEST_EVENTSTORE_URL. */
const { url } = await startDouble()
console.log(url)
