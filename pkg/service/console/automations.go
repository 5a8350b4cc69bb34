package console

import (
	"cmp"
	"net/http"

	client "github.com/content-automation/api/clients/go"
)

const automationsPath = "/settings/automations"

// automation is an automation. Only that of one has its runs.
type automation client.AutomationDetails

// About returns what makes it run.
func (a automation) About() string { return cmp.Or(given(a.Trigger.URL), given(a.Trigger.Cron), a.ID) }

// triggers are the kinds of triggers.
var triggers = []choice{{"feed", "A new entry of a feed"}, {"product", "A new product of the factory"},
	{"time", "The times of a schedule"}}

// contentKinds are the kinds of content that an automation makes.
var contentKinds = append(crmContent[:len(crmContent):len(crmContent)], choice{"music_clip", "Music clip"})

// Trigger returns the name of a kind of triggers.
func (v *view) Trigger(kind any) string { return v.T(textOf(triggers, kind)) }

// automationInputs are the inputs of the forms of an automation. That of a new one has its factory, too.
var automationInputs = []input{
	{Name: "trigger", Member: "trigger/kind", Label: "Trigger", Kind: asRadio, Choices: triggers, Usual: "feed"},
	{Name: "url", Member: "trigger/url", Label: "Address of the feed", Kind: asURL, For: "feed",
		Holder: "https://www.example.com/feed.xml",
		Help:   "RSS, Atom or JSON Feed. It is read every 15 minutes; what it has at first makes nothing."},
	{Name: "cron", Member: "trigger/cron", Label: "Cron expression", For: "time", Holder: "30 9 * * 1-5",
		Help: "Minute, hour, day of the month, month and weekday, in the time zone of the factory. 30 9 * * 1-5 is " +
			"9:30 from Monday to Friday."},
	{Name: "content", Member: "template/kind", Label: "Kind", Kind: asSelect, Choices: contentKinds, Usual: "post"},
	{Name: "prompt", Member: "template/prompt", Label: "Prompt of the content", Kind: asArea, Must: true,
		Examples: []choice{{"{{title}} {{summary}} {{url}}", "Of an entry:"},
			{"{{name}} {{description}} {{url}}", "Of a product:"}, {"{{date}} {{time}}", "Of a time:"}}},
	{Name: "most", Member: "max_per_day", Label: "Most items a day", Kind: asNumber, Usual: "5", Must: true},
}

var automations = page[automation]{
	Title: "Automations", Path: automationsPath, API: "/v1/automations", List: "automations", Icon: "zap", Names: true,
	Lead:    "They make content of the entries of a feed, of new products, or at times.",
	Empty:   "There are no automations here",
	Filters: []string{"factory_id", "profile_id", "state"}, States: []string{"active", "paused", "failed"},
	Show: "automation", Heading: "Automation", Name: automation.About,
	Create: &form[automation]{Title: "Create an automation", Verb: "Create the automation",
		Inputs: append([]input{{Name: "factory_id", Member: "factory_id", Label: "Factory", Kind: asSelect,
			Of: factoryChoices, None: "–"}}, automationInputs...)},
	Edit: &form[automation]{Inputs: automationInputs},
	Actions: []action[automation]{
		{Name: "state", Method: http.MethodPatch, Body: sentAs("state", "state"), ToList: true},
		{Name: "delete", Method: http.MethodDelete, Done: "deleted", ToList: true,
			Ask: &confirmation{Title: "Delete the automation",
				Text: "It makes nothing any more. The content that it has made stays."},
			Effects: func(_ *request, v *view, a automation) ([]string, error) {
				return []string{v.T("It makes at most %d items a day.", a.MaxPerDay)}, nil
			}}},
	Done: map[string]string{"created": "The automation is created.", "changed": "The automation is changed.",
		"deleted": "The automation is deleted.", "paused": "The automation is paused.",
		"active": "The automation goes on with what is new from now on."},
}
