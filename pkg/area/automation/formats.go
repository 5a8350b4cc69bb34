package automation

import "github.com/content-automation/api/pkg/base/format"

func init() {
	format.Define("item-template", format.Format{
		Example: map[string]any{"kind": "post", "prompt": "Tell what is new: {{title}}. {{summary}}"}})
}
