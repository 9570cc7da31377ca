"""Pascal VOC's own files parse whole: the objects of a recipe are those that a plain reading of the XML finds."""

from xml.etree import ElementTree

import numpy as np
import pytest

import sample_images
import stoker

WIDTH, HEIGHT = 500, 375
CLASSES = ("aeroplane bicycle bird boat bottle bus car cat chair cow diningtable dog horse motorbike person pottedplant sheep "
           "sofa train tvmonitor").split()
HEAD = f"""
    <folder>VOC2007</folder>
    <filename>000005.jpg</filename>
    <source>
        <database>The VOC2007 Database</database>
        <annotation>PASCAL VOC2007</annotation>
        <image>flickr</image>
        <flickrid>325991873</flickrid>
    </source>
    <owner>
        <flickrid>archintent louisville</flickrid>
        <name>?</name>
    </owner>
    <size>
        <width>{WIDTH}</width>
        <height>{HEIGHT}</height>
        <depth>3</depth>
    </size>
    <segmented>0</segmented>"""
DOCUMENTS = {
    "of 2007": f"""<annotation>{HEAD}
    <object>
        <name>chair</name>
        <pose>Rear</pose>
        <truncated>0</truncated>
        <difficult>0</difficult>
        <bndbox>
            <xmin>263</xmin>
            <ymin>211</ymin>
            <xmax>324</xmax>
            <ymax>339</ymax>
        </bndbox>
    </object>
    <object>
        <name>tvmonitor</name>
        <pose>Unspecified</pose>
        <truncated>1</truncated>
        <difficult>1</difficult>
        <bndbox>
            <xmin>5</xmin>
            <ymin>244</ymin>
            <xmax>67</xmax>
            <ymax>374</ymax>
        </bndbox>
    </object>
</annotation>
""",
    "fractions, another order, actions, parts": f"""<annotation>
    <segmented>1</segmented>
    <object>
        <bndbox>
            <xmax>351.5</xmax>
            <xmin>52.280000686645508</xmin>
            <ymax>3.75e2</ymax>
            <ymin>  87.25
            </ymin>
        </bndbox>
        <difficult>0</difficult>
        <occluded>1</occluded>
        <pose>Frontal</pose>
        <part>
            <name>head</name>
            <bndbox>
                <xmin>169</xmin>
                <ymin>104</ymin>
                <xmax>209</xmax>
                <ymax>146</ymax>
            </bndbox>
        </part>
        <name>person</name>
        <truncated>1</truncated>
        <point><x>95</x><y>12</y></point>
        <actions><jumping>0</jumping><phoning>1</phoning></actions>
    </object>
    <object>
        <part>
            <name>foot</name>
            <bndbox><xmin>1</xmin><ymin>1</ymin><xmax>2</xmax><ymax>2</ymax></bndbox>
        </part>
        <part>
            <name>foot</name>
            <bndbox><xmin>3</xmin><ymin>3</ymin><xmax>4</xmax><ymax>4</ymax></bndbox>
        </part>
        <name>person</name>
        <pose/>
        <bndbox>
            <ymin>10</ymin>
            <ymax>110.75</ymax>
            <xmin>20</xmin>
            <xmax>80</xmax>
        </bndbox>
    </object>{HEAD}
</annotation>""",
    "written by a library": f"""\ufeff<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE annotation>
<!-- <object><name>cat</name></object> -->
<annotation verified="yes">{HEAD}
    <object>
        <annotation><size><width>1</width><height>1</height></size><object><name>cow</name></object></annotation>
        <name><![CDATA[dog]]></name>
        <attributes><name>Bär &amp; Hund</name></attributes><difficult>0</difficult>
        <bndbox><xmin>1</xmin><ymin>1</ymin><xmax>{WIDTH}</xmax><ymax>{HEIGHT}</ymax></bndbox></object>
    <object><name>&#99;at</name>
        <!-- a box --><bndbox><xmin>&#50;</xmin><ymin>3</ymin><xmax>40</xmax><ymax>50</ymax></bndbox></object>
</annotation>""",
    "without objects": f"<annotation>{HEAD}\n</annotation>",
}


def objects_of(text, difficult):
    """(class, box) of each."""
    found = []
    for each in ElementTree.fromstring(text.encode()).findall("object"):
        if (each.findtext("difficult") or "0").strip() == "1" and not difficult:
            continue
        left, top, right, bottom = (float(each.find("bndbox").findtext(name)) for name in ("xmin", "ymin", "xmax", "ymax"))
        found.append((CLASSES.index(each.findtext("name").strip()), [left - 1, top - 1, right, bottom]))
    return found


@pytest.fixture(scope="module")
def devkit(tmp_path_factory):
    """A list of images and their files of XML, with tabs as VOC writes them, in folders of their own."""
    root, rows = tmp_path_factory.mktemp("voc"), ["path,file:xml"]
    for folder in ("JPEGImages", "Annotations"):
        (root / folder).mkdir()
    for number, text in enumerate(DOCUMENTS.values()):
        image = sample_images.encoded(sample_images.picture(WIDTH, HEIGHT, seed=number))
        (root / f"JPEGImages/{number:06}.jpg").write_bytes(image)
        (root / f"Annotations/{number:06}.xml").write_bytes(text.replace("    ", "\t").encode())
        rows.append(f"JPEGImages/{number:06}.jpg,Annotations/{number:06}.xml")
    (root / "trainval.csv").write_text("\n".join(rows) + "\n")
    return root / "trainval.csv"


@pytest.mark.parametrize("crowds", ["drop", "keep"])
def test_objects_are_those_of_the_document(devkit, crowds):
    recipe = stoker.recipe().decode().resize((HEIGHT, WIDTH))
    recipe = recipe.view("boxes", field="xml").like("image").decode_boxes("voc", crowds=crowds)
    recipe = recipe.view("labels").like("boxes").box_labels()
    (batch,) = stoker.Loader(devkit, recipe, batch=len(DOCUMENTS), order="none", bad_sample="fail")
    counts = []
    for labels, boxes, text in zip(batch.labels, batch.boxes, DOCUMENTS.values()):
        want = objects_of(text, crowds == "keep")
        assert labels.tolist() == [label for label, _ in want]
        np.testing.assert_allclose(boxes, np.reshape([box for _, box in want], (-1, 4)), atol=1e-4)
        counts.append(len(want))
    assert counts == ([2, 2, 2, 0] if crowds == "keep" else [1, 2, 2, 0])
