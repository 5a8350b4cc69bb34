// Command week plans a week of posts, and prints their titles. SVC_API_KEY has the key, BASE_URL the address of the API.
package main

import (
	"context"
	"fmt"
	"log"

	contentautomation "github.com/content-automation/api/clients/go"
)

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	client, err := contentautomation.New()
	if err != nil {
		return err
	}
	factory, err := client.Factories.Create(ctx, contentautomation.BrandFactoryCreate{Name: "Acme",
		Settings: contentautomation.BrandSettingsInput{BrandName: "Acme"}})
	if err != nil {
		return err
	}
	plan, err := client.Factories.CreateContentPlan(ctx, factory.ID, contentautomation.ContentPlanCreate{
		Days: 7, PostsPerDay: 1, Brief: contentautomation.Ptr("The weeks before Christmas"),
		ContentTypes: []contentautomation.ContentType{contentautomation.ContentTypePost}})
	if err != nil {
		return err
	}
	if _, err := client.Factories.WaitForContentPlan(ctx, factory.ID,
		&contentautomation.GetContentPlanParams{ContentPlanID: &plan.ID}); err != nil {
		return err
	}
	params := &contentautomation.ListContentItemsParams{ContentPlanID: &plan.ID}
	for item, err := range client.Content.List(ctx, params) {
		if err != nil {
			return err
		}
		fmt.Println(item.PublishAt, item.Title)
	}
	return nil
}
