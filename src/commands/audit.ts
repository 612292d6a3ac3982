import { Command } from 'commander'
import { exitOnUsage } from '../cli/exit.ts'
import { newKeyCommand } from './audit/new-key.ts'
import { proofCommand } from './audit/proof.ts'
import { verifyCommand } from './audit/verify.ts'

const commands = [verifyCommand, proofCommand, newKeyCommand]

/** `tracebook audit`: what happened, who did it, and proof of it. */
export const auditCommand = (): Command => {
  const audit = new Command('audit').description('Check the log, and prove what is in it').exitOverride(exitOnUsage)
  for (const command of commands) audit.addCommand(command())
  return audit
}
