// Jest's globals, as far as the guide uses them, by Node's own test runner: the tests of this project install no Jest.
const assert = require("node:assert");
const { after, before, test } = require("node:test");

Object.assign(globalThis, {
  test,
  beforeAll: before,
  afterAll: after,
  expect: (value) => ({
    toBe: (want) => assert.strictEqual(value, want),
    toEqual: (want) => assert.deepStrictEqual(value, want),
  }),
});
