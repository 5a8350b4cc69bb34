// Package stack holds the constructs of the CDK app: for one customer in one
// region a stack of what is kept (data), one of the asynchronous path (work) and
// one of the public interface (api).
package stack
