import { tamperingSuite, testEachWay } from './tampering.ts'

const test = tamperingSuite('proof/verify: tampering with other events')

testEachWay(test, 1)

test.run()
