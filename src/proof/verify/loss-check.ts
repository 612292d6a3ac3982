import { type Loss, lossText, newLossTally } from '../losses.ts'
import type { Report } from './findings.ts'
import type { StoredLeaf } from './leaf-rows.ts'

/**
 * Names the events that the log has lost. Accepted is exactly what the service said that it has lost in an epoch: a leaf that is
 * marked besides, or no longer, is a finding. Leaves must come in their order, each once.
 */
export const newLossCheck = (accepted: readonly Loss[], report: Report) => {
  const tally = newLossTally()
  const rangesOf = Map.groupBy(accepted, ({ epoch }) => epoch)

  const add = ({ index, stream, revision, id, hash, lost }: StoredLeaf): void => {
    if (lost === undefined) return
    tally.add({ index, hash, lost })
    const isAccepted = (rangesOf.get(lost) ?? []).some(({ from, to }) => index >= from && index <= to)
    const detail = `the log lost it before epoch ${lost}`
    report({
      kind: 'lost',
      stream,
      revision,
      id,
      leaf: index,
      epoch: lost,
      detail,
      ...(isAccepted ? { isAccepted } : {}),
    })
  }

  /** Gives the losses that nothing was said about. */
  const finish = (): Loss[] => {
    const found = tally.losses()
    for (const loss of found) {
      const known = rangesOf.get(loss.epoch)
      if (!known || known.some((one) => lossText(one) === lossText(loss))) continue
      const detail = `what is marked as lost is not what was accepted, but ${lossText(loss)}`
      report({ kind: 'lost', epoch: loss.epoch, detail })
    }
    return found.filter(({ epoch }) => !rangesOf.has(epoch))
  }

  return { add, finish }
}
