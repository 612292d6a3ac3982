import { forgiveLeftReader } from './cli/standard-output.ts'
import { run } from './commands/program.ts'

process.stdout.on('error', forgiveLeftReader)
await run(process.argv.slice(2))
