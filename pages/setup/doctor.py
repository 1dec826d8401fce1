"""Doctor page: tools, packages, devices and folders here, each with a remedy if it is missing."""

from functools import partial

from core.views import setup as views
from pages.parts.run.launch import compile_one_function, torch_is_starting
from pages.session import server
from pages.session.tables import draw

environment = server.environment()
doctor = views.DoctorView(server.runner().store.home, environment)
starting = partial(torch_is_starting, "What it finds is added when it has started.")
draw(views.doctor(doctor.checks, environment is None), {views.STARTING: starting, views.COMPILE: compile_one_function})
