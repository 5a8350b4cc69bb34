package content

import "github.com/content-automation/api/pkg/base/format"

func init() {
	format.Define("prompt", format.Format{Shortest: 1, Longest: 4000,
		Example: "Our new trail running shoe, made of recycled nets"})
	format.Define("music", format.Format{Pattern: "^(none|generated|med_[0-9a-z]{26})$", Longest: 64,
		Wanted: "none, generated or the id of a media: bring your music in by POST /v1/media first"})
	format.Define("cover", format.Format{Pattern: "^(generated|med_[0-9a-z]{26})$", Longest: 64,
		Wanted: "generated or the id of a media: bring the picture in by POST /v1/media first"})
	format.Define("script", format.Format{Name: format.NotBlank, Longest: 4000,
		Example: "We pulled these nets out of the sea. Now they carry you up the hill."})
	format.Define("scene-text", format.Format{Name: format.NotBlank, Shortest: 1, Longest: 1000,
		Example: "We pulled these nets out of the sea."})
	format.Define("scene-picture", format.Format{Name: format.NotBlank, Longest: 300,
		Example: "Fishermen haul a torn net on board at dawn"})
}
