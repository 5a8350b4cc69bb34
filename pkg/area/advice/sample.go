package advice

// diagnosisSamples are the findings that a test key can request, with the numbers of an imagined factory.
var diagnosisSamples = []Finding{
	found(NoContent, Warning, "Nothing was made in the last 90 days.", "days", 90),
	found(NoRecentContent, Critical, "Nothing was made for 34 days.", "days", 34),
	found(BelowSchedule, Critical, "Of 56 times of the schedule in the last 28 days, 21 were filled (38%).", "planned",
		56, "made", 21, "share", 0.375),
	found(IrregularCadence, Warning, "In the last 28 days, 9 days passed between two items.", "days", 9, "items", 14),
	found(LateItems, Warning, "3 of 20 planned items of the last 28 days were not ready at their time.", "late", 3,
		"planned", 20, "share", 0.15),
	found(FailureRate, Critical, "14 of 40 items of the last 90 days failed (35%).", "failed", 14, "ended", 40,
		"share", 0.35, "share_at_least", 0.2213).about("", Wilson),
	found(FailureCause, Info, "9 of 14 failed items failed with content_policy.", "failed", 9, "failed_in_all", 14,
		"share", 0.6429).about("content_policy", ""),
	found(FailureByKind, Warning, "Items of the kind video fail more often than others: 10 of 15, against 4 of 25.",
		"failed", 10, "ended", 15, "others_failed", 4, "others_ended", 25, "z", 3.2516, "p", 0.0011).
		about("video", TwoProportion),
	found(EngagementByKind, Info, "Posts of the kind carousel get more engagement than others: one of them beats one "+
		"of the others in 78% of all pairs.", "posts", 18, "others", 42, "superiority", 0.78, "p", 0.0007).
		about("carousel", MannWhitney),
	found(EngagementByHour, Info, "Posts published at 18 o'clock get more engagement than others: one of them beats "+
		"one of the others in 74% of all pairs.", "posts", 16, "others", 44, "superiority", 0.74, "p", 0.0046).
		about("18", MannWhitney),
	found(EngagementByTopic, Info, `Posts about "Behind the scenes" get more engagement than others: one of them `+
		`beats one of the others in 71% of all pairs.`, "posts", 14, "others", 46, "superiority", 0.71, "p", 0.0182).
		about("Behind the scenes", MannWhitney),
	found(AccountDisconnected, Critical, "The social account @sample on instagram is not connected. Nothing is "+
		"published to it until its owner connects it again.").about("@sample", ""),
	found(PublicationFailures, Critical, "2 of 9 publications of the last 30 days failed: needs_reconnect (2). "+
		"Publish the items again once the cause is gone.", "failed", 2, "ended", 9, "share", 0.2222),
	found(UnusedAccount, Warning, "None of the 24 items of the last 30 days goes to the social account @sample.",
		"items", 24, "days", 30).about("@sample", ""),
	found(CaptionTooLong, Warning, "3 of 24 captions are longer with their hashtags than telegram permits. The "+
		"longest has 1180 of 1024 characters.", "too_long", 3, "captions", 24, "longest", 1180, "limit", 1024).
		about("telegram", ""),
	found(UnusedContentType, Info, "The content types of the factory include music_clip, but none of its last 40 "+
		"items is of that kind.", "items", 40).about("music_clip", ""),
	found(NoDescription, Warning, "The factory has no description, so that its content has no subject beyond each "+
		"prompt."),
	found(NoAudience, Warning, "The factory has no audience, so that its texts address no one in particular."),
	found(NoTopics, Warning, "The factory has no topics."),
	found(FewTopics, Info, "The factory has 1 of at least 3 topics. With few topics, content repeats itself.",
		"topics", 1, "at_least", 3),
	found(NoTone, Info, "The factory has no tone."),
	found(NoSchedule, Info, "The factory has no schedule."),
}

// Rehearsed returns the findings of the codes that a test key requests, the most severe first.
func Rehearsed(codes []Code) (all []Finding) {
	asked := map[Code]bool{}
	for _, code := range codes {
		asked[code] = true
	}
	for _, f := range diagnosisSamples {
		if asked[f.Code] {
			all = append(all, f)
		}
	}
	return sorted(all)
}
