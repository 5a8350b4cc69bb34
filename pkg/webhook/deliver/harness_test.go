package deliver_test

import "github.com/content-automation/api/pkg/webhook/webhooktest"

type world = webhooktest.World

const hookURL = webhooktest.HookURL

var (
	newWorld = webhooktest.New
	answers  = webhooktest.Answers
)
