import { constants, setPriority } from 'node:os'
import { isMainThread } from 'node:worker_threads'

/**
 * Imported by what runs on a thread of its own: where the processors are all taken, the event loop comes first, for
 * everybody waits for that. On Linux a priority is the thread's; elsewhere it would be the whole process's.
 */
if (!isMainThread && process.platform === 'linux') setPriority(constants.priority.PRIORITY_BELOW_NORMAL)
