package webhook_test

import "github.com/content-automation/api/pkg/area/webhook/webhooktest"

type dispatchWorld = webhooktest.World

const dispatchHookURL = webhooktest.HookURL

var (
	dispatchNewWorld = webhooktest.New
	dispatchCreate   = webhooktest.Create
	dispatchAnswers  = webhooktest.Answers
)
