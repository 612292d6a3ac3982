import { serveHello } from './yardsticks.ts'

process.send!(await serveHello())
