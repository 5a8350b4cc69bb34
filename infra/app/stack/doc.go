// Package stack has the constructs of the CDK app. One customer in one region has four stacks, each deployed after the
// one before it: the stored data (data), the asynchronous path (work), the functions that answer calls (areas), and the
// gateway with its authorizer and the account area (api).
//
// # The size of the stacks
//
// CloudFormation takes 500 resources in a stack, and a test bounds each of these at 400. Most of api are paths of the
// gateway: a new path takes about two resources. A function takes about ten: its role, policy and log, its version and
// alias, the release with its alarm, and the alarm of its errors. The permission of the gateway to call it is in api.
//
// A function stays in its stack, as names of functions are fixed and no resource moves between stacks in a deployment.
package stack
