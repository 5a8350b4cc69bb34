package job

import (
	"slices"

	"github.com/content-automation/api/pkg/area/advice/diagnosis"
	"github.com/content-automation/api/pkg/area/factory"
)

// sampleTopics fill up the topics of a factory in the sandbox.
var sampleTopics = []factory.Topic{"Behind the scenes", "Questions and answers", "News of the week"}

// sampleOf returns the proposals of the sandbox: the same for the same factory and
// findings.
func sampleOf(f factory.Factory, findings []diagnosis.Finding) (all []draft) {
	propose := func(title string, patch map[string]any) {
		if len(all) < maxProposals {
			all = append(all, draft{
				Title: title, Rationale: "A sample proposal from the sandbox. With a live key a language model " +
					"writes it from the findings.",
				Patch: patch, ExpectedEffect: "A sample: applying it mends the finding.",
			})
		}
	}
	used := map[diagnosis.Code]bool{}
	for _, finding := range findings {
		if used[finding.Code] {
			continue
		}
		used[finding.Code] = true
		switch finding.Code {
		case diagnosis.NoDescription:
			propose("Describe the factory", map[string]any{"description": "A sample description of " + f.Name})
		case diagnosis.NoAudience:
			propose("Name the audience", map[string]any{"audience": "People who follow " + f.Name})
		case diagnosis.NoTone:
			propose("Set a tone", map[string]any{"tone": "warm and practical"})
		case diagnosis.NoTopics, diagnosis.FewTopics:
			topics := slices.Clone(f.Topics)
			for _, topic := range sampleTopics {
				if !slices.Contains(topics, topic) {
					topics = append(topics, topic)
				}
			}
			propose("Add topics", map[string]any{"topics": topics})
		case diagnosis.NoSchedule:
			propose("Publish twice a day",
				map[string]any{"schedule": map[string]any{"timezone": "UTC", "times": []string{"09:00", "18:00"}}})
		case diagnosis.UnusedContentType:
			used := slices.DeleteFunc(slices.Clone(f.ContentTypes),
				func(kind string) bool { return kind == *finding.Subject })
			propose("Make only what is used", map[string]any{"content_types": used})
		}
	}
	if len(all) == 0 && len(findings) > 0 {
		tone := "warm and practical"
		if f.Tone == tone {
			tone = "dry and exact"
		}
		propose("Try another tone", map[string]any{"tone": tone})
	}
	return all
}
