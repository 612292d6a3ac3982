import { ignoreBrokenPipe } from './cli/output.ts'
import { run } from './commands/program.ts'

process.stdout.on('error', ignoreBrokenPipe)
await run(process.argv.slice(2))
