import { Command } from 'commander'
import { runCommand } from '../cli/exit.ts'

/** `tracebook openapi`: prints the OpenAPI document, for example to generate a client from it. */
export const openapiCommand = (): Command =>
  new Command('openapi')
    .addHelpText('after', '\nExamples:\n  tracebook openapi > openapi.json')
    .action(() => runCommand(async () => (await import('./run/openapi.ts')).print()))
