import { showLocalTimes } from './times.ts'

showLocalTimes(document)
