import { Command } from 'commander'
import { auditDiffCommand } from './audit/diff.ts'
import { erasuresCommand } from './audit/erasures.ts'
import { exportCommand } from './audit/export.ts'
import { importCommand } from './audit/import.ts'
import { auditLogCommand } from './audit/log.ts'
import { newKeyCommand } from './audit/new-key.ts'
import { proofCommand } from './audit/proof.ts'
import { replayCommand } from './audit/replay.ts'
import { auditShowCommand } from './audit/show.ts'
import { verifyCommand } from './audit/verify.ts'

const commands = [
  auditLogCommand,
  auditShowCommand,
  auditDiffCommand,
  verifyCommand,
  proofCommand,
  newKeyCommand,
  erasuresCommand,
  replayCommand,
  exportCommand,
  importCommand,
]

/** `tracebook audit`: what happened, who did it, proof of it, and whether what was deleted is gone. */
export const auditCommand = (): Command => {
  const audit = new Command('audit')
  for (const command of commands) audit.addCommand(command())
  return audit
}
