package advice

import "github.com/content-automation/api/pkg/base/format"

func init() {
	format.Define("finding", format.Format{Values: format.Values(NoContent, NoRecentContent, BelowSchedule,
		IrregularCadence, LateItems, FailureRate, FailureCause, FailureByKind, EngagementByKind, EngagementByHour,
		EngagementByTopic, AccountDisconnected, PublicationFailures, UnusedAccount, CaptionTooLong, UnusedContentType,
		NoDescription, NoAudience, NoTopics, FewTopics, NoTone, NoSchedule),
		Fewest: 1, Many: 22, Distinct: true, List: []any{"publication_failures", "no_audience"}})
}
