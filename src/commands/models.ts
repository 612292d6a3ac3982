import { Command } from 'commander'
import { runCommand } from '../cli/exit.ts'

/** `tracebook models refresh` */
export const modelsCommand = (): Command =>
  new Command('models').addCommand(
    new Command('refresh')
      .description('Read the catalogue of CATALOGUE_URL now, and take over what changed.')
      .addHelpText('after', '\nExamples:\n  tracebook models refresh')
      .action(() => runCommand(async () => (await import('./run/models.ts')).refresh())),
  )
