package dispatch_test

import "github.com/content-automation/api/pkg/area/webhook/webhooktest"

type world = webhooktest.World

const hookURL = webhooktest.HookURL

var (
	newWorld = webhooktest.New
	create   = webhooktest.Create
	answers  = webhooktest.Answers
)
