"""A call and a list with the client that openapi-generator makes for Python."""

import os

import openapi_client
from openapi_client import AccountApi, BrandFactoryCreate, BrandSettingsInput, FactoriesApi, FactoryCreate

settings = openapi_client.Configuration(host=os.environ["BASE_URL"], access_token=os.environ["SVC_TEST_KEY"])
with openapi_client.ApiClient(settings) as api:
    me = AccountApi(api).get_me()
    assert me.data.id.startswith("acc_") and me.error is None, me
    factories = FactoriesApi(api)
    body = BrandFactoryCreate(type="brand", name="Acme", settings=BrandSettingsInput(brand_name="Acme"))
    made = factories.create_factory(FactoryCreate(body))
    page = factories.list_factories(limit=10)
    assert made.data.actual_instance.id in [one.actual_instance.id for one in page.data], page
print("done")
