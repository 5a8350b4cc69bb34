package platform_test

import (
	"testing"

	"github.com/content-automation/api/infra/verify/harness/platformtest/fixture"
	"github.com/content-automation/api/pkg/adapter/platform/pinterest"
)

func TestOptionsOnPinterest(t *testing.T) {
	fixture.Options(t, newPinterestFixture, []fixture.Option{
		{Name: "board_section_id", Post: pinterestPhoto, Own: pinterest.Options{Section: "51"}, Shows: "in section 51"},
		{Name: "link", Post: pinterestPhoto, Own: pinterest.Options{Link: "https://acme.example/shoe"},
			Shows: "https://acme.example/shoe"},
	}, nil, "alt_text", "cover_at")
}
