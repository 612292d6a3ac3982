import { suite } from 'uvu'
import { playSeeds } from './support/seeds.ts'
import { twoNodes } from './support/two-nodes.ts'

const test = suite('fault/history-nodes')

test('with two nodes, one of them frozen at times, what was answered by either holds and nothing else does', () =>
  playSeeds('two nodes', { open: twoNodes, kinds: ['freeze', 'process', 'freeze', 'network'], rounds: 2 }))

test.run()
