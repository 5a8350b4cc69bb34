package console

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	client "github.com/content-automation/api/clients/go"
	"github.com/content-automation/api/pkg/base/backoff"
)

const templatesPath = "/settings/templates"

// designed is a template: a design of media as data.
type designed struct {
	client.TemplateDetails
	UsedBy []string `json:"used_by"`
}

// Open reports whether a preview is being made.
func (d designed) Open() bool {
	return d.Preview != nil && (d.Preview.State == "queued" || d.Preview.State == "generating")
}

// themes are those that a template begins with, and previewKinds what a preview shows.
var (
	themes = []choice{{"calm", "Calm"}, {"bold", "Bold"}, {"editorial", "Editorial"}, {"minimal", "Minimal"},
		{"playful", "Playful"}}
	previewKinds = []choice{{"post", "Post"}, {"carousel", "Carousel"}, {"story", "Story"},
		{"product", "Post of a product"}, {"video", "Cover, product and end of a video"}, {"music", "Music clip"}}
)

// previewTries bounds the looks at a preview that is being made.
const previewTries = 10

var designs = page[designed]{
	Title: "Templates", Path: templatesPath, API: "/v1/templates", List: "designs", Icon: "template", Names: true,
	Lead:    "A template is a design of media as data. Factories and clients that name one use it in place of a theme.",
	Empty:   "There are no templates yet",
	Hint:    "Begin with one of five themes, and change what is yours.",
	Filters: []string{"profile_id"},
	Columns: []column{{Text: "Name"}, {Text: "Client", At: "sm"}, {Text: "Changed", At: "sm"}},
	Show:    "design", Name: func(d designed) string { return d.Name }, Below: besideDesign,
	Create: &form[designed]{Title: "Create a template", Verb: "Create the template", Inputs: []input{
		{Name: "name", Member: "name", Label: "Name"},
		{Name: "theme", Member: "theme", Label: "It begins as", Kind: asRadio, Choices: themes, Usual: "calm"},
		{Name: "profile_id", Member: "profile_id", Label: "Client", Kind: asSelect, Of: profileChoices,
			None: "The whole account", Free: true}}},
	Edit: &form[designed]{Inputs: []input{{Name: "name", Member: "name", Label: "Name"},
		{Name: "design", Member: "design", Label: "Design", Kind: asJSON, Must: true,
			Help: "Places are in percent of the picture, sizes in pixels of one that is 1080 wide."}}},
	Actions: []action[designed]{
		{Name: "preview", Method: http.MethodPost, API: "/preview", Then: previewed, Body: sampled},
		{Name: "delete", Method: http.MethodDelete, Done: "deleted", ToList: true, Ask: &confirmation{
			Title: "Delete the template", Text: "Posts that were made in it stay as they are."},
			Effects: func(_ *request, v *view, d designed) ([]string, error) {
				used := v.T("It is used by: %d. A template that is used cannot be deleted.", len(d.UsedBy))
				return []string{used}, nil
			}}},
	Done: map[string]string{"created": "The template is created.", "changed": "The template is changed.",
		"deleted": "The template is deleted."},
}

// sampled returns the body of a preview.
func sampled(r *request) (any, error) {
	body := map[string]any{}
	for _, name := range []string{"kind", "factory_id", "language"} {
		if value := strings.TrimSpace(r.PostFormValue(name)); value != "" {
			body[name] = value
		}
	}
	return body, nil
}

// previewed waits for the pictures of a preview, and shows them with the template.
func previewed(r *request, d designed) error {
	for try := range previewTries {
		if err := r.api.get(r.Context(), r.apiPath("templates"), nil, &d); err != nil || !d.Open() {
			break // the page says what is wrong
		}
		if err := backoff.Wait(r.Context(), try+1, 200*time.Millisecond, 2*time.Second); err != nil {
			return err
		}
	}
	return r.redirect(r.at(templatesPath + "/{id}"))
}

// besideDesign adds the pictures of a template, and who uses it.
func besideDesign(r *request, _ *view, d designed, to map[string]any) error {
	to["Kinds"] = previewKinds
	if d.Preview != nil {
		for _, m := range d.Preview.Media {
			r.permitMedia(mediaFile{URL: m.URL})
		}
	}
	users := make([]named, len(d.UsedBy))
	for i, id := range d.UsedBy {
		users[i].ID = id
	}
	to["Users"] = users
	return each(users, func(one *named) error {
		list := "/v1/factories/"
		if strings.HasPrefix(one.ID, "prf_") {
			list = "/v1/profiles/"
		}
		return r.api.get(r.Context(), list+url.PathEscape(one.ID), nil, one)
	})
}
