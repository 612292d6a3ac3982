import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { type AfterMember, countMembers, memberOf, otherMembers } from '../../../src/server/namespace/queries.ts'
import { sharedWorld, signIn } from '../../support/world.ts'

const test = suite('namespace: pages of members')
const { node } = await sharedWorld()
const { reads } = node.service

const ada = await signIn(node)
const { id, slug } = await ada.newTeam()
const guests: string[] = []
for (let i = 0; i < 5; i++) {
  const guest = await signIn(node)
  await ada.admit(slug, guest, i === 0 ? 'admin' : 'member')
  guests.push(guest.userId)
}

const pagesWithout = async (userId: string, limit: number) => {
  const pages: string[][] = []
  let after: AfterMember | undefined
  do {
    const { members, next } = await otherMembers(reads, id, { userId, after, limit })
    pages.push(members.map(({ user }) => user.id))
    after = next
  } while (after)
  return pages
}

test('all members but one come in the order of joining, each once', async () => {
  const all = guests.toSorted()
  for (const limit of [1, 2, 5, 6]) {
    const pages = await pagesWithout(ada.userId, limit)
    assert.is(pages.length, Math.ceil(5 / limit))
    assert.equal(pages.flat().toSorted(), all)
  }
  assert.equal((await pagesWithout(guests[2]!, 3)).flat().includes(guests[2]!), false)
})

test('members and admins are counted, and a member is found by its user', async () => {
  assert.equal(await countMembers(reads, id), { members: 6, admins: 2 })
  assert.is((await memberOf(reads, id, guests[0]!))!.role, 'admin')
  assert.is(await memberOf(reads, id, 'nobody'), undefined)
  assert.is(await memberOf(reads, ada.namespaceId, guests[0]!), undefined)
})

test.run()
