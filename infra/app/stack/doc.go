// Package stack has the constructs of the CDK app. One customer in one region has three
// stacks: the stored data (data), the asynchronous path (work) and the public interface
// (api).
package stack
