// Command deliver-slow is the Lambda function that carries out attempts at webhooks
// whose receivers take long to answer: deliver passes them on, so that no others wait
// for them.
package main

import (
	"github.com/content-automation/api/pkg/cloud/needs"
	"github.com/content-automation/api/pkg/cloud/topology"
	wiring "github.com/content-automation/api/pkg/service/worker/deliver"
)

func main() { wiring.Start(needs.QueueURL(topology.DeliverSlow), "", nil) }
