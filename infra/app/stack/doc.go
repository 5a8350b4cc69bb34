// Package stack has the constructs of the CDK app. One customer in one region has three stacks: the stored data (data),
// the asynchronous path (work) and the public interface (api).
//
// # The size of the stack api
//
// CloudFormation takes 500 resources in a stack. A test bounds api at 475; it has about 450. 262 of them are paths of
// the gateway, its methods and its responses, of which a new path takes about two. About 155 belong to the 16
// functions, ten to each: the function with its role, policy and log, its version and alias, the release with its
// alarm, the alarm of its errors, and the permission of the gateway.
//
// Both change at different times: functions with each release, paths with the API. Before the bound is reached, the
// functions become a stack of their own, areas, between work and api:
//
//  1. newAPI is split: functions, aliases, releases and their alarms go to areas, which api is deployed after. The
//     gateway calls an alias by its ARN, and the permission stays in api, with the source ARN of the gateway. Functions
//     that name the gateway (signOn.introduce) get its address from a parameter of Systems Manager, as they do today.
//  2. The names of functions are fixed, and no resource moves between stacks in a deployment. The functions in areas
//     get names of their own, so that both exist for one deployment. It moves the gateway to the new ones, and the next
//     removes the old ones from api. Both stacks then have 170 and 290 resources.
//  3. The commands that name the stack api for its alarms (infra/operate/deploy) also read areas, and the names of the
//     functions change in pkg/cloud/topology, from which all others follow.
package stack
