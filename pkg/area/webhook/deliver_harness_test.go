package webhook_test

import "github.com/content-automation/api/pkg/area/webhook/webhooktest"

type deliverWorld = webhooktest.World

const deliverHookURL = webhooktest.HookURL

var (
	deliverNewWorld = webhooktest.New
	deliverAnswers  = webhooktest.Answers
)
