import { constants, setPriority } from 'node:os'
import { isMainThread } from 'node:worker_threads'

/**
 * Imported by worker threads for its side effect: gives the thread a lower priority than the event loop, which all requests
 * wait for. Only on Linux, where the priority is that of the thread; elsewhere it would be that of the whole process.
 */
if (!isMainThread && process.platform === 'linux') setPriority(constants.priority.PRIORITY_BELOW_NORMAL)
