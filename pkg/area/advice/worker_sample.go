package advice

import (
	"slices"

	"github.com/content-automation/api/pkg/adapter/provider/samples"
	"github.com/content-automation/api/pkg/area/factory"
)

// sampleOf returns the proposals of the sandbox, in the language of the factory: the same for the same factory and
// findings.
func sampleOf(f factory.Factory, findings []Finding) (all []draft) {
	texts := samples.Of(f.Language).Proposals
	used := map[string]bool{}
	propose := func(title string, code Code, member string, value any) {
		if len(all) < maxProposals && !used[member] {
			used[member] = true
			all = append(all, draft{Title: title, Rationale: samples.Fill(texts.Rationale, "code", string(code)),
				Patch: map[string]any{member: value}, ExpectedEffect: texts.Effect})
		}
	}
	tone := texts.Tone[1]
	if string(f.Tone) == tone {
		tone = texts.Tone[2]
	}
	for _, finding := range findings {
		switch code := finding.Code; code {
		case NoDescription:
			propose(texts.Description[0], code, "description", samples.Fill(texts.Description[1], "name", f.Name))
		case NoAudience:
			propose(texts.Audience[0], code, "audience", texts.Audience[1])
		case NoTone, EngagementByKind, EngagementByTopic:
			propose(texts.Tone[0], code, "tone", tone)
		case NoTopics, FewTopics:
			topics := slices.Clone(f.Topics)
			for _, topic := range texts.Topics[1:] {
				if topic := factory.Topic(topic); !slices.Contains(topics, topic) {
					topics = append(topics, topic)
				}
			}
			propose(texts.Topics[0], code, "topics", topics)
		case NoSchedule, IrregularCadence, EngagementByHour:
			zone := "UTC"
			if f.Schedule != nil {
				zone = f.Schedule.Timezone
			}
			propose(texts.Schedule[0], code, "schedule", map[string]any{"timezone": zone,
				"times": []string{"09:00", "18:00"}})
		case UnusedContentType:
			kept := slices.DeleteFunc(slices.Clone(f.ContentTypes),
				func(kind string) bool { return kind == *finding.Subject })
			if len(kept) > 0 && len(kept) < len(f.ContentTypes) {
				propose(texts.ContentTypes[0], code, "content_types", kept)
			}
		}
	}
	if len(all) == 0 && len(findings) > 0 {
		propose(texts.Tone[0], findings[0].Code, "tone", tone)
	}
	return all
}
